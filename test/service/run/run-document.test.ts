import { expect, test } from "vitest";
import { newRun } from "#service/run/new-run.ts";
import { parseRunDocument } from "#service/run/run-document.ts";

const document = newRun({ prompt: "x" }, { id: "one", order: 1, now: 5, sessionKey: "k", earlier: [] });

test("a document of the first version is converted, its pull requests to artifacts", () => {
  const { artifacts: _, factoryUid: __, attachments: ___, ...run } = document.run;
  const pullRequests = [{ url: "https://github.com/octo/app/pull/7", at: 3 }];
  expect(parseRunDocument({ ...document, version: 1, run: { ...run, pullRequests } })).toEqual({
    ...document,
    run: {
      ...document.run,
      artifacts: [{ kind: "pull_request", url: "https://github.com/octo/app/pull/7", branch: "", at: 3 }],
    },
  });
});

test("a document is read as it was written; an unknown version is refused", () => {
  expect(parseRunDocument(JSON.parse(JSON.stringify(document)))).toEqual(document);
  expect(() => parseRunDocument({ ...document, version: 3 })).toThrow();
});
