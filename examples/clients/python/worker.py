"""A worker for the agent `reader` of examples/approvals: adds up the lines of invoices until it is stopped.

STARLING_URL=http://127.0.0.1:8344 PYTHONPATH=client python3 examples/clients/python/worker.py
"""

import os
import signal
import threading
from typing import Literal

from starling import Execution, InvoicePayload, Output, ReadingPayload, Starling

Reading = Output[Literal["Reading"], ReadingPayload]


def read(execution: Execution[InvoicePayload]) -> Reading:
    (invoice,) = execution["inputs"]
    total = sum(line["amount"] for line in invoice["payload"]["lines"])
    print(f"read invoice {invoice['id']}: {total}", flush=True)
    return {"type": "Reading", "payload": {"total": total}}


stop = threading.Event()
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: stop.set())

starling = Starling(os.environ.get("STARLING_URL", "http://127.0.0.1:8344"))
starling.work.reader(read, claimed_by=f"worker-{os.getpid()}", stop=stop)
