/**
 * Reloads the page when the development server runs another version of the app.
 * Its own URL names the version that the page came from (`?version=3`).
 */
{
  const own = new URL(document.currentScript.src);
  const events = new EventSource(new URL('events', own));
  events.addEventListener('message', ({ data }) => {
    if (data !== own.searchParams.get('version')) {
      events.close();
      location.reload();
    }
  });
}
