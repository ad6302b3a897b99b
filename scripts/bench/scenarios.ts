/** What the simulated provider does for each model of the benchmark: the same in front of every target. */
export const scenarios = {
  plain: { model: 'gpt-4o-mini', directives: 'fixed', stream: false },
  slow: { model: 'gpt-4o', directives: 'fixed,delay=50', stream: false },
  stream: { model: 'gpt-4.1', directives: 'fixed,events=64', stream: true },
  paced: { model: 'gpt-4.1-mini', directives: 'fixed,delay=50,events=64,gap=20', stream: true },
  idle: { model: 'gpt-4.1-nano', directives: 'fixed,events=12,gap=1000', stream: true },
} as const

export type ScenarioName = keyof typeof scenarios
