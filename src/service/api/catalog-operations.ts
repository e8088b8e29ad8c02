import { z } from "zod";
import type { CreateResponse, FactoryRunResponse } from "#agent-runs/schema.ts";
import { type Catalog, type FactorySpec, factoryIn } from "#service/catalog.ts";
import type { RepositorySkills } from "#service/files/repository-skills.ts";
import type { Run } from "#service/run/run-document.ts";
import type { RunStore } from "#service/store/run-store.ts";
import { environmentsQuery, factoriesQuery, skillsQuery } from "#service/wire/catalog-queries.ts";
import { runsLike } from "#service/wire/list-query.ts";
import { missing, type Result, refused } from "#service/wire/problem.ts";
import { readQuery } from "#service/wire/query.ts";
import { readBody } from "#service/wire/request-body.ts";
import { type FactoryRequest, factoryRequest, type RunRequest } from "#service/wire/wire-shapes.ts";
import { skillsOf } from "./catalog-skills.ts";
import { environmentOf, factoryOf, modelsOf } from "./catalog-wire.ts";

/** A new run in the queue. */
export interface Begun {
  readonly answer: CreateResponse;
  /** The address of its page. */
  readonly link: string;
}

/** The catalog and the stores of the operations. */
export interface CatalogOperationOptions {
  readonly catalog: Catalog;
  readonly runs: RunStore;
  readonly skills: RepositorySkills;
  /** When the declaration of the environment with this id last changed, in milliseconds since the epoch. */
  readonly changedAt: (environmentId: string) => number;
  /** Creates and queues a run. */
  readonly begin: (request: RunRequest, factoryUid: string | null) => Promise<Result<Begun>>;
}

/** The endpoints that list the operator's declarations and create runs of factories. */
export function createCatalogOperations(options: CatalogOperationOptions) {
  const { catalog, runs, skills, changedAt, begin } = options;
  /** The last created run with this environment or skill; null if there is none. */
  async function newest(of: { environment_id: string } | { skill: string }): Promise<Run | null> {
    const page = await runs.list(runsLike({ ...of, sort_by: "created_at", limit: 1 }));
    return page.ok ? (page.value.runs[0] ?? null) : null;
  }

  return {
    async environments(parameters: URLSearchParams): Promise<Result<unknown>> {
      const query = readQuery(parameters, environmentsQuery);
      if (!query.ok) return query;
      const environments = await Promise.all(
        catalog.environments.map(async (spec) =>
          environmentOf(spec, changedAt(spec.id), await newest({ environment_id: spec.id })),
        ),
      );
      const byName = query.value.sort_by === "name";
      environments.sort((a, b) =>
        byName ? a.uid.localeCompare(b.uid) : b.last_updated.localeCompare(a.last_updated),
      );
      return { ok: true, value: { environments } };
    },

    models(parameters: URLSearchParams): Result<unknown> {
      const query = readQuery(parameters, z.object({}));
      return query.ok ? { ok: true, value: modelsOf(catalog) } : query;
    },

    async skills(parameters: URLSearchParams): Promise<Result<unknown>> {
      const query = readQuery(parameters, skillsQuery);
      if (!query.ok) return query;
      const found = await skills.find(query.value.refresh);
      const newestOf = (skill: string) => newest({ skill });
      return { ok: true, value: { agents: await skillsOf(catalog, query.value, found, newestOf) } };
    },

    factories(parameters: URLSearchParams): Result<unknown> {
      const query = readQuery(parameters, factoriesQuery);
      if (!query.ok) return query;
      const { search, limit, cursor } = query.value;
      const part = search.trim().toLowerCase();
      const matching = catalog.factories.filter(({ name, aliases }) =>
        [name, ...aliases].some((each) => each.toLowerCase().includes(part)),
      );
      const last = cursor === undefined ? null : Buffer.from(cursor, "base64url").toString("utf8");
      const from = last === null ? 0 : matching.findIndex(({ uid }) => uid === last) + 1;
      if (last !== null && from === 0) {
        return refused(
          "invalid_request",
          "cursor: it must be the `next_cursor` of a page with the same search",
        );
      }
      const page = matching.slice(from, from + limit);
      const more = from + limit < matching.length;
      const next = Buffer.from(page.at(-1)?.uid ?? "").toString("base64url");
      return {
        ok: true,
        value: {
          factories: page.map((spec) => factoryOf(spec, catalog)),
          page_info: { has_next_page: more, ...(more ? { next_cursor: next } : {}) },
        },
      };
    },

    factory(uid: string): Result<unknown> {
      const spec = factoryIn(catalog, uid);
      return spec === null ? missing("factory", uid) : { ok: true, value: factoryOf(spec, catalog) };
    },

    /** Creates a run of the factory. */
    async dispatch(uid: string, request: Request): Promise<Result<FactoryRunResponse>> {
      const spec = factoryIn(catalog, uid);
      if (spec === null) return missing("factory", uid);
      const body = await readBody(request, factoryRequest);
      if (!body.ok) return body;
      const begun = await begin(requestOf(spec, body.value), uid);
      if (!begun.ok) return begun;
      const { answer, link } = begun.value;
      const { ticket_ref } = body.value;
      const ticket = ticket_ref === undefined ? {} : { ticket_ref };
      return { ok: true, value: { ...answer, factory_uid: uid, run_url: link, ...ticket } };
    },
  };
}

/** The request for a factory's run: the caller's prompt with everything that the factory declares. */
function requestOf(spec: FactorySpec, { prompt, title, ticket_ref, ticket_url }: FactoryRequest): RunRequest {
  const { name, basePrompt, environmentId, modelId, skill } = spec;
  return {
    prompt,
    ...(title === undefined ? {} : { title }),
    metadata: {
      ...(ticket_ref === undefined ? {} : { ticket_ref }),
      ...(ticket_url === undefined ? {} : { ticket_url }),
    },
    config: {
      name,
      ...(basePrompt === null ? {} : { base_prompt: basePrompt }),
      ...(environmentId === null ? {} : { environment_id: environmentId }),
      ...(modelId === null ? {} : { model_id: modelId }),
      ...(skill === null ? {} : { skill_spec: skill }),
    },
  };
}
