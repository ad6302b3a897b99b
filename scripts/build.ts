import { buildConsole } from './console.ts'

process.exitCode = buildConsole() ? 0 : 1
