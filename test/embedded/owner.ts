import { startEmbedded } from '#db/embedded.ts'

// Run as a process of its own by the tests beside it, which end it in more or less friendly ways.
const [dataDir = ''] = process.argv.slice(2)
const { attached, connection, stop } = await startEmbedded({ dataDir, testing: true })
process.stdout.write(`${JSON.stringify({ attached, connection })}\n`)
const waiting = setInterval(() => {}, 60_000)
process.once('SIGTERM', () => {
  clearInterval(waiting)
  void stop()
})
