import type { CreateResponse } from "#agent-runs/schema.ts";
import type { Catalog, FactorySpec } from "#service/catalog.ts";
import type { RepositorySkills } from "#service/files/repository-skills.ts";
import type { Run } from "#service/run/run-document.ts";
import type { RunStore } from "#service/store/run-store.ts";
import { environmentsQuery, factoriesQuery, skillsQuery } from "#service/wire/catalog-queries.ts";
import { runsLike } from "#service/wire/list-query.ts";
import { missing, type Result, refused } from "#service/wire/problem.ts";
import { readQuery } from "#service/wire/query.ts";
import { mostBodyBytes, readBody } from "#service/wire/request-body.ts";
import { type FactoryRequest, factoryRequest, type RunRequest } from "#service/wire/wire-shapes.ts";
import { skillsOf } from "./catalog-skills.ts";
import { environmentOf, factoryOf, modelsOf } from "./catalog-wire.ts";
import type { Operations } from "./endpoint.ts";

/** A run that was made and waits for its turn. */
export interface Beginning {
  readonly begun: CreateResponse;
  /** Address of its page. */
  readonly link: string;
}

export interface CatalogOperationOptions {
  readonly catalog: Catalog;
  readonly runs: RunStore;
  readonly foundSkills: RepositorySkills;
  readonly begin: (request: RunRequest, factoryUid: string | null) => Promise<Result<Beginning>>;
}

type CatalogOperations = Pick<
  Operations,
  "environments" | "models" | "skills" | "factories" | "factory" | "dispatch"
>;

/** What tells of what the operator has declared, and runs of declared factories. */
export function createCatalogOperations(options: CatalogOperationOptions): CatalogOperations {
  const { catalog, runs, foundSkills, begin } = options;

  /** The run that was created last of those with this environment or skill; null if there is none. */
  async function newest(of: { environment_id: string } | { skill: string }): Promise<Run | null> {
    const page = await runs.list(runsLike({ ...of, sort_by: "created_at", limit: 1 }));
    return page.ok ? (page.value.runs[0] ?? null) : null;
  }
  const found = (uid: string): FactorySpec | null =>
    catalog.factories.find((factory) => factory.uid === uid) ?? null;
  const unknownFactory = (uid: string) => missing("factory", uid);

  return {
    async environments(parameters) {
      const query = readQuery(parameters, environmentsQuery);
      if (!query.ok) return query;
      const environments = await Promise.all(
        catalog.environments.map(async (spec) =>
          environmentOf(spec, await newest({ environment_id: spec.id })),
        ),
      );
      if (query.value.sort_by === "name") environments.sort((a, b) => a.uid.localeCompare(b.uid));
      return { ok: true, value: { environments } };
    },

    models: () => ({ ok: true, value: modelsOf(catalog) }),

    async skills(parameters) {
      const query = readQuery(parameters, skillsQuery);
      if (!query.ok) return query;
      const agents = await skillsOf({
        catalog,
        query: query.value,
        found: await foundSkills.find(query.value.refresh),
        newest: (skill) => newest({ skill }),
      });
      return { ok: true, value: { agents } };
    },

    factories(parameters) {
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
        return refused("invalid_request", "cursor: it is not one that this service gave for the same search");
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

    factory(uid) {
      const spec = found(uid);
      return spec === null ? unknownFactory(uid) : { ok: true, value: factoryOf(spec, catalog) };
    },

    async dispatch(uid, request) {
      const spec = found(uid);
      if (spec === null) return unknownFactory(uid);
      const body = await readBody(request, factoryRequest, mostBodyBytes);
      if (!body.ok) return body;
      const made = await begin(requestOf(spec, body.value), uid);
      if (!made.ok) return made;
      const { begun, link } = made.value;
      const { ticket_ref } = body.value;
      return {
        ok: true,
        value: {
          ...begun,
          factory_uid: uid,
          run_url: link,
          ...(ticket_ref === undefined ? {} : { ticket_ref }),
        },
      };
    },
  };
}

/** How a factory's run is asked for: with the prompt, and all else as the factory declares it. */
function requestOf(spec: FactorySpec, asked: FactoryRequest): RunRequest {
  const { name, basePrompt, environmentId, modelId, skill } = spec;
  const { prompt, title, ticket_ref, ticket_url } = asked;
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
