import "@/pages/parts.css";
import { Link, useAuth } from "fx/client";

/** A link to sign in, or a button to sign out. */
export function Account() {
  const { user } = useAuth();

  if (!user) {
    return (
      <Link href="/login" className="tab">
        Sign in
      </Link>
    );
  }
  return (
    <form method="post" action="/api/__auth/logout">
      <button className="tab" title={user.email}>
        Sign out
      </button>
    </form>
  );
}
