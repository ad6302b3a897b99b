export type SavedLink = { name: string; template: string }

/** The chat links of the operator, each a record of one name and its address. */
export const savedLinks = (chats: readonly Readonly<Record<string, string>>[]): SavedLink[] =>
  chats.flatMap((chat) =>
    Object.entries(chat)
      .slice(0, 1)
      .map(([name, template]) => ({ name, template })),
  )

/** A page of the gateway's own origin could take its own sandbox off, and act as the reader. */
export const sandboxOf = (url: string, ownOrigin: string): string =>
  `allow-scripts allow-forms allow-popups allow-downloads${URL.parse(url)?.origin === ownOrigin ? '' : ' allow-same-origin'}`
