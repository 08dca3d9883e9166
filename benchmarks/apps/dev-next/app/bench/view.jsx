'use client';

import { useEffect, useState } from 'react';

import { Badge } from './badge.jsx';

const CODE = 0;

export function Bench({ data }) {
  const [count, setCount] = useState(0);
  useEffect(() => void performance.mark('bench:live'), []);
  return (
    <>
      <h1 id="text">text 0</h1>
      <p id="data">{data.value}</p>
      <p id="code">code {CODE}</p>
      <Badge />
      <button id="count" onClick={() => setCount(count + 1)}>
        {count}
      </button>
      <input id="typed" />
    </>
  );
}
