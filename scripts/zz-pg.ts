import { startEmbedded } from '#db/embedded.ts'
const d = await startEmbedded({ dataDir: '/tmp/console10m' })
console.log(d.url)
await new Promise(() => setInterval(() => {}, 1000))
