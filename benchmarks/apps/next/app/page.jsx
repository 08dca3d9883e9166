export default function Index() {
  return <h1>Benchmark</h1>;
}
