import { buildConsole } from './console.ts'
import { buildServer } from './server-build.ts'

process.exitCode = buildConsole() && buildServer() !== null ? 0 : 1
