import './bench.css';
import { Bench } from './view.jsx';

export const dynamic = 'force-dynamic';

const VALUE = 'data 0';

export default async function Page() {
  return <Bench data={{ value: VALUE }} />;
}
