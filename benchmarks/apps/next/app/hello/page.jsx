import Hello from "./view";

export const dynamic = "force-dynamic";

export default async function Page() {
  return <Hello data={{ message: "Hello" }} />;
}
