import type { Services } from '#features/deps.ts'
import { raw, type RouteTable } from '#rest/route.ts'
import type { Api } from '../app-router.ts'

type Table = RouteTable<Api, Services>
type Written = { json: string; html: string; policy: string }

/** Built by the first request that wants it: most processes are never asked, and a relay would hold it for nothing. */
let written: Promise<Written> | undefined

async function write(table: Table): Promise<Written> {
  const [{ describeApi }, { renderPage }] = await Promise.all([import('./document.ts'), import('./page.ts')])
  const document = describeApi(table)
  return { json: JSON.stringify(document), ...renderPage(document) }
}

/** The paths that describe all the others. The table is asked for, since it has these rows too. */
export const documentRoutes = (table: () => Table): Table => ({
  'GET /api/openapi.json': raw<Services>(async (_services, { res }) => {
    const { json } = await (written ??= write(table()))
    res.type('json').send(json)
  }),
  'GET /api/docs': raw<Services>(async (_services, { res }) => {
    const { html, policy } = await (written ??= write(table()))
    res.setHeader('content-security-policy', policy)
    res.setHeader('x-content-type-options', 'nosniff')
    res.setHeader('x-frame-options', 'SAMEORIGIN')
    res.type('html').send(html)
  }),
})
