/**
 * Reloads the page that stands in for an app when something else takes its place: then the
 * connection ends. Its own URL is beside that of the connection.
 */
{
  const url = new URL('@hot', document.currentScript.src.replace(/dev\/[^/]*$/, ''));
  url.protocol = url.protocol.replace('http', 'ws');
  new WebSocket(url).addEventListener('close', () => setTimeout(() => location.reload(), 100));
}
