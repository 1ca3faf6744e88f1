"""Publishes a text to a server and prints what it reads back. Arguments: the address of the server, and the text."""

import json
import sys

from client import Client
from client.api.artifacts import artifacts_get, artifacts_list, artifacts_publish, artifacts_publish_and_wait
from client.models import (
    ArtifactBody,
    ArtifactListBody,
    CustomerMessagePayload,
    PublicVisibility,
    PublicVisibilityKind,
    PublishRequest,
    SyncPublishBody,
    SyncPublishRequest,
)

client = Client(base_url=sys.argv[1])
payload = CustomerMessagePayload(text=sys.argv[2])
public = PublicVisibility(kind=PublicVisibilityKind.PUBLIC)
accepted = artifacts_publish.sync_detailed(
    client=client, body=PublishRequest(type_="CustomerMessage", payload=payload, visibility=public)
)
assert accepted.status_code == 200, accepted
run = artifacts_publish_and_wait.sync(
    client=client, body=SyncPublishRequest(type_="CustomerMessage", payload=payload)
)
assert isinstance(run, SyncPublishBody), run
routing = next(artifact for artifact in run.artifacts if artifact.type_ == "Routing")
listed = artifacts_list.sync(client=client, correlation_id=run.correlation_id, type_=["CustomerMessage"])
assert isinstance(listed, ArtifactListBody), listed
message = artifacts_get.sync(client=client, artifact_id=listed.items[0].id)
assert isinstance(message, ArtifactBody), message
print(
    json.dumps(
        {
            "text": message.payload["text"],
            "queue": routing.payload["queue"],
            "produced_by": message.produced_by,
        }
    )
)
