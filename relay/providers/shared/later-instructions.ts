/** How a form of messages is read and written here. */
type Form<Message, Part> = {
  isInstruction: (message: Message) => boolean
  isUser: (message: Message) => boolean
  /** What an instruction says. */
  partsOf: (message: Message) => readonly Part[]
  /** A user's turn with more behind it, or one of those parts alone. */
  userTurn: (parts: readonly Part[], before?: Message) => Message
}

/**
 * Instructions in mid-conversation, for models that take none there: they join the user's turn before them, or else the next one. Moved to the
 * top, each new one would change the beginning of the conversation, and nothing of it would be found in a cache any more. Those before the
 * conversation, `prompt`, are its beginning.
 */
export function placeInstructions<Message, Part>(messages: readonly Message[], form: Form<Message, Part>) {
  const { isInstruction, isUser, partsOf, userTurn } = form
  const found = messages.findIndex((message) => !isInstruction(message))
  const begin = found < 0 ? messages.length : found
  const turns: Message[] = []
  let waiting: Part[] = []
  for (const message of messages.slice(begin)) {
    const last = turns.at(-1)
    if (!isInstruction(message)) {
      const joins = isUser(message) && waiting.length > 0
      turns.push(joins ? userTurn(waiting, message) : message)
      if (joins) waiting = []
    } else if (last !== undefined && isUser(last)) turns[turns.length - 1] = userTurn(partsOf(message), last)
    else waiting = [...waiting, ...partsOf(message)]
  }
  return { prompt: messages.slice(0, begin), turns: waiting.length > 0 ? [...turns, userTurn(waiting)] : turns }
}
