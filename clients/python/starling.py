RETRIES = 7
LONGEST_PAUSE = 10.0
ANSWERS_WITHIN = 30.0
CLAIM_WAIT = 20
# The server sends something every 15 s, so a longer silence of a stream is a lost connection.
LONGEST_SILENCE = 45.0
LONGEST_TYPE = 100
LONGEST_MESSAGE = 2_000
UNAVAILABLE = (429, 502, 503, 504)


class Starling:
    """A client of a Starling server.

    It sends a request again, with the same idempotency key, if the connection is lost or the server is unavailable: seven
    times, within about half a minute. Every method raises a StarlingError if the server refuses the request.
    """

    def __init__(self, url: str = "http://127.0.0.1:8344") -> None:
        self.url = url.rstrip("/")
        # Publishes an artifact, and returns when it is stored.
        self.publish = Publish(self._publish)
        # Publishes an artifact, and returns when all work that follows from it has ended.
        self.publish_and_wait = PublishAndWait(self._publish_and_wait)
        # Works for an external agent until `stop` is set: claims executions, renews their leases while the function works,
        # and completes them with its outputs. If it raises, the attempt fails, and the agent's `retry` says what follows.
        self.work = Work(self._work)

    def artifact(self, id: str) -> Artifact[Any]:
        artifact: Artifact[Any] = self._call(f"/api/v1/artifacts/{urllib.parse.quote(id)}")[0]
        return artifact

    def stream(
        self,
        *,
        artifact_type: list[str] | None = None,
        produced_by: list[str] | None = None,
        correlation_id: str | None = None,
        after: int | None = None,
    ) -> Iterator[Entry]:
        """The entries of published artifacts, without end. If the connection is lost, it continues after the last entry.

        `after`: the position after which it begins, 0 for the beginning; if absent, it begins with the next artifact.
        """
        wanted = {"artifact_type": artifact_type, "produced_by": produced_by, "correlation_id": correlation_id}
        given = {name: value for name, value in wanted.items() if value is not None}
        path = f"/api/v1/changelog/stream?{urllib.parse.urlencode(given, doseq=True)}"
        position = None if after is None else str(after)
        while True:
            headers = {} if position is None else {"Last-Event-ID": position}
            answer = self._send(path, None, headers, LONGEST_SILENCE, RETRIES, lambda opened: opened)
            try:
                for id, data in _events_of(answer):
                    if data is not None:
                        yield json.loads(data)
                    position = id or position
            except (OSError, HTTPException):
                pass
            finally:
                answer.close()

    def _work(self, agent: str, handle: Callable[[Any], Any], options: WorkerOptions) -> None:
        names = {name: value for name, value in options.items() if name != "stop"}
        stop = options.get("stop", threading.Event())
        body = {"agents": [agent], "wait": CLAIM_WAIT, "max": 1, **names}
        while not stop.is_set():
            claimed, _ = self._call("/api/v1/executions/claim", body, within=CLAIM_WAIT + ANSWERS_WITHIN, retries=sys.maxsize)
            for execution in claimed["executions"]:
                self._work_on(execution, handle)

    def _work_on(self, execution: Any, handle: Callable[[Any], Any]) -> None:
        path = f"/api/v1/executions/{execution['execution_id']}"
        lease = {"lease_token": execution["lease_token"]}
        ended = threading.Event()
        threading.Thread(target=self._renew, args=(path, lease, execution["lease_until"], ended), daemon=True).start()
        try:
            outputs = handle(execution)
            listed = outputs if isinstance(outputs, list) else [outputs]
            self._call(f"{path}/complete", {**lease, "outputs": listed}, retries=sys.maxsize)
        except Exception as error:
            if not _is_lease_lost(error):
                failure = {
                    "error_type": type(error).__name__[:LONGEST_TYPE],
                    "error_message": str(error)[:LONGEST_MESSAGE] or "no message",
                }
                self._end(f"{path}/fail", {**lease, **failure})
            else:
                print(error, file=sys.stderr)
        except BaseException:
            # The program ends. Another worker gets the execution immediately.
            self._end(f"{path}/release", lease)
            raise
        finally:
            ended.set()

    def _renew(self, path: str, lease: dict[str, str], until: str, ended: threading.Event) -> None:
        left = (datetime.fromisoformat(until) - datetime.now(timezone.utc)).total_seconds()
        # Every third of the lease, so that two heartbeats may fail.
        while not ended.wait(max(left / 3, 0.1)):
            try:
                self._call(f"{path}/heartbeat", lease, retries=0)
            except (OSError, HTTPException):
                pass
            except StarlingError as error:
                if _is_lease_lost(error):
                    return

    def _end(self, path: str, body: dict[str, Any]) -> None:
        try:
            self._call(path, body, retries=sys.maxsize)
        except StarlingError as error:
            if not _is_lease_lost(error):
                raise
            print(error, file=sys.stderr)

    def _publish(self, type: str, payload: Any, options: Any) -> Published:
        _, headers = self._send_publish("/api/v1/artifacts", type, payload, options, ANSWERS_WITHIN)
        return {"correlation_id": headers["X-Correlation-ID"]}

    def _publish_and_wait(self, type: str, payload: Any, options: Any) -> Run:
        within = options.get("timeout", 30) + ANSWERS_WITHIN
        return Run(self._send_publish("/api/v1/artifacts/sync", type, payload, options, within)[0])

    def _send_publish(self, path: str, type: str, payload: Any, options: dict[str, Any], within: float) -> tuple[Any, Any]:
        fields = {name: value for name, value in options.items() if name not in ("correlation_id", "idempotency_key")}
        headers = {"X-Idempotency-Key": options.get("idempotency_key") or str(uuid.uuid4())}
        if "correlation_id" in options:
            headers["X-Correlation-ID"] = options["correlation_id"]
        return self._call(path, {"type": type, "payload": payload, **fields}, headers, within)

    def _call(
        self,
        path: str,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        within: float = ANSWERS_WITHIN,
        retries: int = RETRIES,
    ) -> tuple[Any, Any]:
        return self._send(path, body, headers or {}, within, retries, lambda answer: (json.load(answer), answer.headers))

    def _send(
        self,
        path: str,
        body: dict[str, Any] | None,
        headers: dict[str, str],
        within: float,
        retries: int,
        read: Callable[[Any], T],
    ) -> T:
        """Sends a request and reads its answer, and again while there is no answer or the server is unavailable."""
        data = None if body is None else json.dumps(body).encode()
        content = {} if body is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, {**content, **headers})
        attempt = 0
        while True:
            asked = 0.0
            try:
                return read(urllib.request.urlopen(request, timeout=within))
            except urllib.error.HTTPError as error:
                if error.code not in UNAVAILABLE or attempt >= retries:
                    raise _refusal(error) from None
                asked = float(error.headers.get("Retry-After", 0))
            except (OSError, HTTPException):
                if attempt >= retries:
                    raise
            time.sleep(asked or min(0.25 * 2 ** min(attempt, 10), LONGEST_PAUSE) * random.uniform(0.5, 1.5))
            attempt += 1


def _is_lease_lost(error: Exception) -> bool:
    """The server answers so if another worker may have the execution, or if it no longer exists."""
    return isinstance(error, StarlingError) and error.status in (404, 409)


def _refusal(error: urllib.error.HTTPError) -> StarlingError:
    try:
        detail = json.load(error)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = error.reason
    return StarlingError(error.code, str(detail))


def _events_of(answer: Any) -> Iterator[tuple[str | None, str | None]]:
    """The events of a stream of server-sent events: id and data."""
    fields: dict[str, str] = {}
    for line in answer:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name != "":
            fields[name] = value
        elif fields:
            yield fields.get("id"), fields.get("data")
            fields = {}
