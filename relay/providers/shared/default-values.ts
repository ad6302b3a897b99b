/** Fields that ask for what happens anyway: leaving them out loses nothing. */
export const isDefaultValue = (name: string, value: unknown): boolean =>
  name === 'stream_options' ||
  (name === 'n' && value === 1) ||
  (name === 'parallel_tool_calls' && value === true) ||
  (name === 'tool_choice' && value === 'auto')
