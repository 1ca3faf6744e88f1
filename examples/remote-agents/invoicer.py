"""A remote agent that answers immediately. Python 3.9 or later, standard library only.

AGENT_SECRET=whsec_... python3 invoicer.py     (PORT, default 9001)
"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["AGENT_SECRET"]
TAX = 0.19
OLDEST_SECONDS = 300


def key(secret):
    """`whsec_` announces base64; any other secret is its own bytes (Standard Webhooks)."""
    return base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()


def is_signed(headers, body):
    """Whether the request comes from who knows the secret, and is not an old one sent again."""
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > OLDEST_SECONDS:
        return False
    content = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    expected = base64.b64encode(hmac.new(key(SECRET), content, hashlib.sha256).digest()).decode()
    given = [part[3:] for part in headers.get("webhook-signature", "").split(" ") if part.startswith("v1,")]
    return any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in given)


def outputs_for(order):
    gross = round(order["net"] * (1 + TAX), 2)
    return [{"type": "Invoice", "payload": {"number": order["number"], "gross": gross}, "tags": ["taxed"]}]


class Invoicer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_signed(self.headers, body):
            return self.answer(401, {"error": "the signature is missing or wrong"})
        asked = json.loads(body)
        self.answer(200, {"outputs": outputs_for(asked["inputs"][0]["payload"])})

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9001"))), Invoicer)
    print(f"the invoicer listens on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
