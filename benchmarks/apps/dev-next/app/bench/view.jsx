'use client';

import { useEffect, useState } from 'react';

export function Bench({ data }) {
  const [count, setCount] = useState(0);
  useEffect(() => void performance.mark('bench:live'), []);
  return (
    <>
      <h1 id="text">text 0</h1>
      <p id="data">{data.value}</p>
      <button id="count" onClick={() => setCount(count + 1)}>
        {count}
      </button>
      <input id="typed" />
    </>
  );
}
