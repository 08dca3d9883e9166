import { useEffect, useState } from 'react';

import { Badge } from '../badge.jsx';
import './bench.css';

const CODE = 0;

export default function Bench() {
  const [count, setCount] = useState(0);
  useEffect(() => void performance.mark('bench:live'), []);
  return (
    <>
      <h1 id="text">text 0</h1>
      <p id="code">code {CODE}</p>
      <Badge />
      <button id="count" onClick={() => setCount(count + 1)}>
        {count}
      </button>
      <input id="typed" />
    </>
  );
}
