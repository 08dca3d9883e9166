"use client";

export default function Hello({ data }) {
  return (
    <>
      <h1>Greeting</h1>
      <p>{data.message}</p>
    </>
  );
}
