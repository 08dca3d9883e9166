import { Link, usePathname } from "fx/client";

/** A link that is marked while its page is shown. */
export function Tab({ href, children }) {
  const current = usePathname() === href ? "page" : undefined;

  return (
    <Link href={href} aria-current={current}>
      {children}
    </Link>
  );
}
