import { createRoot } from 'react-dom/client';

import { Bench } from './bench.jsx';

createRoot(document.getElementById('root')).render(<Bench />);
