import { procedureRoutes, relayRoutes, routesOfTable } from '#server/openapi/route-list.ts'
import { restTable } from '#server/rest-table.ts'

export { procedureRoutes, relayRoutes }

export const restRoutes = () => routesOfTable(restTable)

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

const code = (text: string): string => (text === '' ? '' : `\`${text.replaceAll('\\', '')}\``)

export function describeRoutes(): string {
  const relay = relayRoutes().map(({ kind, path }) => [kind, code(path)])
  const rest = restRoutes().map(({ kind, path, role, procedure }) => [kind, code(path), role, code(procedure)])
  const procedures = procedureRoutes().map(({ path, kind, role }) => [code(path), kind, role])
  return `# Routes

Written by \`npm run routes -- --write\`; change the tables in the code, not this file.

## Callers' traffic

Every path requires an access token, except those of the playground, which require a session, and \`/mj/image/:id\`, which is open. Every path below \`/v1\` and \`/v1beta\`
is also served with \`/hf\` in front.

${table(['method', 'path'], relay)}

\`/v1/explain\` takes the body of a chat completion and sends nothing. Each of its \`candidates\`, in the order of attempts, has
\`channel_id\`, \`model\`, \`upstream_model\`, \`priority\`, \`probability\` (of being asked first), \`tier\`, \`cooling_down\` (every key of the
channel is in its cooldown), \`estimate\`, \`price\` and \`reservation\`; \`removed\` names the other channels with the \`rule\` that left them out. \`balance\`,
\`limits\` and \`spend_caps\` (\`scope\`, window, \`models\`, \`limit\`, \`spent\`, \`remaining\`, \`turns_at\`) say what is left and whether it admits the call.

## REST

For scripts with a system access token (\`Authorization: Bearer …\` and the user's id in \`X-User-Id\`; a user makes it in the personal settings)
and for programs of the older console, which send the session cookie and the same id. Each path calls its procedure, so role and validation are the procedure's. An answer
is \`{"success", "message", "data"}\`; a refusal is status 200 with \`success: false\`, or 401 without a login, 429 without a body over a limit, 500 for an internal
error, 503 while something is away; a few paths refuse with 400 or 403, and a demonstration site refuses changes with 405. \`/api/user/pay\` and \`/api/user/amount\` have no \`success\`
and say \`success\` or \`error\` as \`message\`.

Pages have at most 100 rows, those of channels and of the log of a key 1,000; a list that is an array says in \`X-Total-Count\` how many rows there are (of channels by tag: tags). \`total\` of the log is exact
up to 10,000; of a longer one it stays ahead of the pages, which go on to the last row. Refusals are in Chinese, or in English where \`Accept-Language\` asks for it.
A session changes its password at \`PUT /api/user/self\` within ten minutes of signing in, and later with the current one beside it as \`original_password\`; a system access token need not name it.
\`GET /api/openapi.json\` describes every path here and above in OpenAPI 3.1, \`/api/docs\` shows it as a page.

${table(['method', 'path', 'role', 'procedure'], rest)}

## tRPC

What the console calls, at \`/trpc\`, with the session cookie, from the same origin.

${table(['procedure', 'kind', 'role'], procedures)}
`
}
