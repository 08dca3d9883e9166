"use client";

function Row({ row }) {
  return (
    <tr>
      <td>{row.id}</td>
      <td>{row.name}</td>
      <td>{row.email}</td>
      <td>{row.amount}</td>
    </tr>
  );
}

export default function Table({ data }) {
  return (
    <>
      <h1>People</h1>
      <table>
        <tbody>
          {data.rows.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </tbody>
      </table>
    </>
  );
}
