import { buildServer, loadServer } from '../../server-build.ts'

/** The product as `npm start` runs it, without building the console first. */
process.env['SERVER_BUILD'] ??= buildServer() ?? ''
const { main } = await loadServer(process.env['SERVER_BUILD'] || null)
await main()
