import { useEffect, useState } from 'react';

import './bench.css';

export function Bench() {
  const [count, setCount] = useState(0);
  useEffect(() => void performance.mark('bench:live'), []);
  return (
    <>
      <h1 id="text">text 0</h1>
      <button id="count" onClick={() => setCount(count + 1)}>
        {count}
      </button>
      <input id="typed" />
    </>
  );
}
