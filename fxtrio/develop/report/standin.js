/**
 * Reloads the page that stands in for an app when something else takes its place. The connection
 * ends then. Where that was before it began, somebody else answers, with another first message.
 */
{
  const { hot, failure } = document.currentScript.dataset;
  const url = new URL(hot, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const socket = new WebSocket(url);
  const reload = () => setTimeout(() => location.reload(), 100);
  const compare = ({ data }) => {
    if (JSON.parse(data).failure !== failure) reload();
  };
  socket.addEventListener('message', compare, { once: true });
  socket.addEventListener('close', reload);
}
