import { readFile } from "node:fs/promises";

export const metadata = { title: "Guide" };

export default async function Page() {
  const guide = await readFile("guide.html", "utf8");
  return <div dangerouslySetInnerHTML={{ __html: guide }} />;
}
