import type { App } from './app.ts'

/** A line of the process log with the causes of its errors, which the log writes out. */
function asLogged(logged: unknown): string {
  const errors: string[] = []
  const text = JSON.stringify(logged, (_name, value: unknown) => {
    if (!(value instanceof Error)) return value
    errors.push(`${value.stack ?? ''} ${JSON.stringify(value)}`)
    return value.cause ?? value.name
  })
  return `${text} ${errors.join(' ')}`
}

/** Lines that the app logs from now on, in place of writing them. */
export function recordProcessLog(app: App): string[] {
  const lines: string[] = []
  for (const level of ['debug', 'info', 'warn', 'error'] as const)
    app.services.log[level] = (...logged: unknown[]) => void lines.push(logged.map(asLogged).join(' '))
  return lines
}
