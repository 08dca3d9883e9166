export const metadata = { title: "Hello" };

export default function Page() {
  return <h1>Hello</h1>;
}
