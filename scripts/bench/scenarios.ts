/** What the simulated provider does for each model of the benchmark: the same in front of every target. */
export const scenarios = {
  plain: { model: 'gpt-4o-mini', directives: 'fixed', stream: false },
  slow: { model: 'gpt-4o', directives: 'fixed,delay=50', stream: false },
  stream: { model: 'gpt-4.1', directives: 'fixed,events=64', stream: true },
  paced: { model: 'gpt-4.1-mini', directives: 'fixed,delay=50,events=64,gap=20', stream: true },
  ticking: { model: 'gpt-4.1-2025-04-14', directives: 'fixed,events=200,gap=5', stream: true },
  /** The same through the hub format: every event is read and written anew. */
  translated: {
    model: 'gpt-4.1-mini-2025-04-14',
    directives: 'fixed,events=200,gap=5',
    stream: true,
    setting: { force_format: true },
  },
  idle: { model: 'gpt-4.1-nano', directives: 'fixed,events=12,gap=1000', stream: true },
} as const

export type Scenario = { model: string; directives: string; stream: boolean; setting?: Record<string, unknown> }
export type ScenarioName = keyof typeof scenarios
