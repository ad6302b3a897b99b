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

An access token is wanted everywhere but for the playground, which wants a session. Every path below \`/v1\` and \`/v1beta\`
is also served with \`/hf\` in front.

${table(['method', 'path'], relay)}

\`/v1/explain\` takes the body of a chat completion and sends nothing. Each of its \`candidates\`, in the order of attempts, has
\`channel_id\`, \`model\`, \`upstream_model\`, \`priority\`, \`probability\` (of being asked first), \`tier\`, \`cooling_down\` (every key of the
channel is in its cooldown), \`estimate\`, \`price\` and \`reservation\`; \`removed\` names the other channels with the \`rule\` that left them out. \`balance\`,
\`limits\` and \`spend_caps\` (\`scope\`, window, \`models\`, \`limit\`, \`spent\`, \`remaining\`, \`turns_at\`) say what is left and whether it admits the call.

## REST

For scripts with a system access token and for programs of the older console. Role, validation and work are the
procedure's.

${table(['method', 'path', 'role', 'procedure'], rest)}

## tRPC

What the console calls, at \`/trpc\`.

${table(['procedure', 'kind', 'role'], procedures)}
`
}
