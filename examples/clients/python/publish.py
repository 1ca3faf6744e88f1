"""Publishes an invoice, waits for the agents, and prints what they produced."""

import os

from starling import Starling

starling = Starling(os.environ.get("STARLING_URL", "http://127.0.0.1:8344"))
run = starling.publish_and_wait.Invoice(
    {"lines": [{"text": "Lamp", "amount": 40.5}, {"text": "Cable", "amount": 9.5}]},
    idempotency_key="invoice-17",
    timeout=20,
)
reading = run.first("Reading")
print(run.completed, reading["payload"]["total"] if reading else "was not read")
