import Link from "next/link";

export const metadata = { title: "Benchmark" };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <div className="frame">
          <header>
            <nav>
              <Link href="/hello">Hello</Link>
              <Link href="/table">Table</Link>
            </nav>
          </header>
          <main>{children}</main>
        </div>
      </body>
    </html>
  );
}
