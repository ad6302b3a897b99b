import { main } from '#server/main.ts'

/** The product as `npm start` runs it, without building the console first. */
await main()
