"""A small application as Next.js's users write it: all that `fx from-next` converts is in it."""

from __future__ import annotations

FILES = {
    "package.json": """
        {
          "name": "acme",
          "scripts": {"dev": "next dev --turbopack", "build": "next build", "start": "next start"},
          "dependencies": {"next": "16.0.0"},
          "devDependencies": {"eslint-config-next": "16.0.0"}
        }
    """,
    "tsconfig.json": """
        {
          "compilerOptions": {
            "jsx": "preserve", "plugins": [{"name": "next"}], "paths": {"@/*": ["./src/*"]}
          },
          "include": ["next-env.d.ts", "**/*.ts", ".next/types/**/*.ts"]
        }
    """,
    "next-env.d.ts": '/// <reference types="next" />\n',
    "tailwind.config.ts": """
        export default { content: ["./src/app/**/*.{js,ts,jsx,tsx,mdx}"], theme: {} };
    """,
    ".env": "NEXT_PUBLIC_NAME=Acme\n",
    ".gitignore": "/.next/\n/node_modules\n",
    "public/logo.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
    "src/app/favicon.ico": "",
    "src/app/globals.css": "body { margin: 0 }\n",
    "src/app/layout.tsx": """
        import type { Metadata } from 'next';
        import './globals.css';

        export const metadata: Metadata = {
          title: { template: '%s | Acme', default: 'Acme "Shop"' },
          description: 'All & more',
        };

        export default function RootLayout({ children }: { children: React.ReactNode }) {
          return (
            <html lang="en" suppressHydrationWarning>
              <body className="antialiased">{children}</body>
            </html>
          );
        }
    """,
    "src/app/page.tsx": """
        import Link from 'next/link';
        import Image from 'next/image';
        import { Counter } from './ui/counter';
        import { money } from '@/lib/money';

        export const revalidate = 3600;
        export const dynamic = 'force-static';

        export default function Home() {
          return (
            <main>
              <h1>{process.env.NEXT_PUBLIC_NAME} {money(12)}</h1>
              <Image src="/logo.svg" alt="Logo" width={10} height={10} />
              <Counter />
              <Link href="/invoices">Invoices</Link>
            </main>
          );
        }
    """,
    "src/app/ui/counter.tsx": """
        'use client';

        import { usePathname, useRouter } from 'next/navigation';
        import { useEffect, useState } from 'react';

        export function Counter() {
          const router = useRouter();
          const path = usePathname();
          const [count, setCount] = useState(0);
          useEffect(() => {
            router.prefetch('/invoices');
          }, [router, path]);
          return (
            <>
              <button onClick={() => setCount(count + 1)}>{path} {count}</button>
              <button onClick={() => router.push('/invoices')}>Go</button>
              <button onClick={() => router.replace(`/invoices?n=${count}`)}>Instead</button>
            </>
          );
        }
    """,
    "src/app/(shop)/invoices/page.tsx": """
        import { Metadata } from 'next';
        import { useSearchParams as useQuery } from 'next/navigation';

        export const metadata: Metadata = { title: 'Invoices' };

        export default function Invoices() {
          return <p>Invoices of {useQuery().get('n') ?? 'all'}</p>;
        }
    """,
    "src/app/items/[id]/page.tsx": """
        'use client';
        import { use } from 'react';

        export default function Item({ params }: { params: Promise<{ id: string }> }) {
          const { id } = use(params);
          return <p>Item {id}</p>;
        }
    """,
    "src/app/not-found.tsx": """
        export default function NotFound() {
          return <h1>Nothing here</h1>;
        }
    """,
    "src/lib/money.ts": "export const money = (cents: number) => `${cents} ct`;\n",
}
"""Path to text, dedented when it is written: nothing of it is left to do by hand."""

SERVER = {
    "src/app/(shop)/invoices/[id]/page.tsx": """
        import { notFound, useRouter } from 'next/navigation';
        import { Inter } from 'next/font/google';
        import { remove } from '@/lib/actions';

        const inter = Inter({ subsets: ['latin'] });

        export default async function Invoice({ params }: { params: Promise<{ id: string }> }) {
          const { id } = await params;
          if (id === '0') notFound();
          return <form action={remove} className={inter.className}>{id}</form>;
        }
    """,
    "src/app/error.tsx": """
        'use client';

        export default function ErrorPage({ error, reset }: { error: Error; reset: () => void }) {
          return <button onClick={reset}>{error.message}</button>;
        }
    """,
    "src/app/query/route.ts": "export async function GET() {\n  return Response.json({});\n}\n",
    "src/lib/actions.ts": """
        'use server';

        export async function remove(data: FormData) {
          console.log(data);
        }
    """,
    "src/middleware.ts": "export function middleware() {}\n",
    "next.config.ts": "export default {};\n",
}
"""What runs on the server of Next.js, and is left to do by hand."""
