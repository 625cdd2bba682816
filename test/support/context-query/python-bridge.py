#!/usr/bin/env python3
"""Plays the Python hermes_bridge of internal-context-query.md section 5, with the standard library alone.

Its one model asks everything about every node before it, and answers with what it was told; as the planner it follows
the goal's @plan lines. It listens on a free loopback port, prints {"port": n}, and takes the bearer secret from BRIDGE_SECRET.
"""
import hmac
import json
import os
import sys
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.pop("BRIDGE_SECRET")
TIMEOUT_SECONDS = 5


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirects)


def context_tools(context_query):
    """The three tools; the token lives in this closure only."""
    base_url = context_query["base_url"]
    token = context_query["token"]
    run_id = context_query["run_id"]
    visit_uuid = context_query["visit_uuid"]
    if urllib.parse.urlsplit(base_url).hostname not in ("127.0.0.1", "localhost", "::1"):
        print("context tools are not registered: the base URL is not loopback", file=sys.stderr)
        return {}

    def post(query, body):
        request = urllib.request.Request(
            f"{base_url}/internal/context/{query}",
            data=json.dumps(body).encode(),
            headers={"X-Context-Token": token, "Content-Type": "application/json"},
            method="POST",
        )
        with OPENER.open(request, timeout=TIMEOUT_SECONDS) as response:
            if response.headers.get("Set-Cookie") or response.headers.get("Location"):
                raise ValueError("the answer carries a header that it must not carry")
            return json.load(response)["data"]

    def get_predecessor_paths():
        return post("path", {"runId": run_id, "visitUuid": visit_uuid})

    def get_node_output(node_id, field=None, iter_seq=None):
        return post("output", {"runId": run_id, "nodeId": node_id, "field": field, "iterSeq": iter_seq})

    def get_node_meta(node_id=None, visit_uuid=None, kind="ALL", iter_seq=None):
        return post(
            "meta",
            {"runId": run_id, "visitUuid": visit_uuid, "nodeId": node_id, "kind": kind, "iterSeq": iter_seq},
        )

    return {
        "get_predecessor_paths": get_predecessor_paths,
        "get_node_output": get_node_output,
        "get_node_meta": get_node_meta,
    }


class Bridge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def authorized(self):
        given = self.headers.get("Authorization", "")
        if hmac.compare_digest(given.encode(), f"Bearer {SECRET}".encode()):
            return True
        self.answer(401, {"error": "unauthorized"})
        return False

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.authorized():
            self.answer(200, {"status": "ok", "active": 0})

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if not self.authorized():
            return
        run = json.loads(body)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            self.run_agent(run)
        except Exception as error:  # whatever went wrong, the server is told, without the token
            self.emit("error", {"code": "agent", "message": type(error).__name__, "retryable": False})
        self.close_connection = True

    def emit(self, event, data):
        frame = f"event: {event}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
        self.wfile.write(frame.encode())
        self.wfile.flush()

    def run_planner(self, run):
        lines = [line[len("@plan "):] for line in run["prompt"].splitlines() if line.startswith("@plan ")]
        plan = lines[run["plan_index"]] if run["plan_index"] < len(lines) else "END"
        chosen = [] if plan == "END" else [{"nodeId": node_id, "reason": "@plan"} for node_id in plan.split(",")]
        answer = {"next": chosen, "finish": plan == "END"}
        self.emit("result", {"text": json.dumps(answer), "data": answer})

    def run_agent(self, run):
        if run["node_id"] == "planner":
            return self.run_planner(run)
        query = run.get("context_query")
        tools = context_tools(query) if query else {}
        calls = 0

        def call(tool, **args):
            nonlocal calls
            calls += 1
            call_id = f"call-{calls}"
            self.emit("tool_call", {"call_id": call_id, "tool": tool, "args": args})
            result = tools[tool](**args)
            self.emit("tool_result", {"call_id": call_id, "tool": tool, "result": result, "error": None})
            return result

        self.emit("thinking", {"text": f"第一步 {run['node_id']}"})
        told = {"tools": sorted(tools), "instructions": run["instructions"]}
        if tools:
            told["path"] = call("get_predecessor_paths")
            others = sorted(set(told["path"]["nodeIds"]) - {run["node_id"]})
            told["outputs"] = {node_id: call("get_node_output", node_id=node_id) for node_id in others}
            told["metas"] = {node_id: call("get_node_meta", node_id=node_id) for node_id in others}
        self.emit("todo_update", {"todos": [{"text": run["node_id"], "status": "completed"}]})
        self.emit("usage", {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
        self.emit("result", {"text": f"{run['node_id']} has asked", "data": {"told": told}})


server = ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
server.daemon_threads = True
print(json.dumps({"port": server.server_address[1]}), flush=True)
server.serve_forever()
