import { unimplementedPaths } from '#relay/routes.ts'
import { procedureRoutes, relayRoutes, routesOfTable } from '#server/openapi/route-list.ts'
import { restTable } from '#server/rest-table.ts'

export { procedureRoutes, relayRoutes }

export const restRoutes = () => routesOfTable(restTable)

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

const code = (text: string): string => (text === '' ? '' : `\`${text.replaceAll('\\', '')}\``)

const unimplemented = new Set(
  unimplementedPaths.map(({ method, path }) => `${method === 'all' ? 'any' : method.toUpperCase()} ${path}`),
)
const sockets = ['GET /v1/realtime', 'GET /v1/responses']

/** What a path is answered that is there to be refused, and what no plain request is for. */
function noteOf(route: string): string {
  if (unimplemented.has(route)) return '501: not implemented'
  if (route.endsWith('/submit/*rest')) return '400: unknown action'
  if (route.endsWith('/*path')) return '404: unknown path'
  return sockets.includes(route) ? 'WebSocket' : ''
}

export function describeRoutes(): string {
  const relay = relayRoutes().map(({ kind, path }) => [kind, code(path), noteOf(`${kind} ${path}`)])
  const rest = restRoutes().map(({ kind, path, role, procedure }) => [kind, code(path), role, code(procedure)])
  const procedures = procedureRoutes().map(({ path, kind, role }) => [code(path), kind, role])
  return `# Routes

Written by \`npm run routes -- --write\` (without \`--write\` it prints the page); change the tables in the code, not this file.

## Callers' traffic

Every path requires an access token, except those of the playground, which require a session, and the images of drawings (\`/mj/image/:id\` and the
same below \`/mj-fast\`, \`/mj-relax\` and \`/mj-turbo\`), which are open. Every path below \`/v1\` and \`/v1beta\` except \`/v1/dashboard/billing\`, and both
rerank paths, are also served with \`/hf\` in front.

${table(['method', 'path', 'note'], relay)}

\`/v1/realtime\` and, where the client asks for one, \`/v1/responses\` are WebSockets. One of \`/v1/realtime\` lasts as long as its upstream allows. On
one of \`/v1/responses\` each message is a call of its own; it is closed after 60 minutes, once the response under way has ended, after 120 at the latest.

\`/v1/realtime?intent=transcription\`, without a \`model\`, is a session that only transcribes. Its model is the one of its first \`session.update\`
(\`session.audio.input.transcription.model\`; in the beta form \`session.input_audio_transcription.model\` of a \`transcription_session.update\`), which has to
come within \`BODY_IDLE_SECONDS\`, behind 2 MB of sound at most and nothing else, which is refused by an error event; it is admitted, routed and charged by that name from then on. With a \`model\` as well the
address opens a session like any.

\`/v1/explain\` takes the body of a chat completion and sends nothing. Each of its \`candidates\`, in the order of attempts, has
\`channel_id\`, \`model\`, \`upstream_model\`, \`priority\`, \`probability\` (of being asked first), \`tier\`, \`cooling_down\` (every key of the
channel is in its cooldown), \`estimate\`, \`price\` and \`reservation\`; \`removed\` names the other channels with the \`rule\` that left them out. \`balance\`,
\`limits\` and \`spend_caps\` (\`scope\`, window, \`models\`, \`limit\`, \`spent\`, \`remaining\`, \`turns_at\`) say what is left and whether it admits the call.

## REST

For scripts with a system access token (\`Authorization: Bearer …\` and the user's id in \`X-User-Id\`; a user makes it in the personal settings)
and for programs written for the documented paths that send the session cookie and the same id. Each path calls its procedure, so role and validation are the procedure's. An answer
is \`{"success", "message", "data"}\`; a refusal is status 200 with \`success: false\`, or 401 without a login, 429 without a body over a limit, 500 for an internal
error, 503 while something is away; a body that arrives too slowly is refused with 408, one that is too large with 413, one packed in an unknown way with
415. A few paths refuse with 400 or 403, and a demonstration site refuses changes with 405. \`/api/user/pay\` and \`/api/user/amount\` have no \`success\`
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
