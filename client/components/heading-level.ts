import { createContext, useContext } from 'react'

type Level = 'h2' | 'h3'

/** How deep a heading stands: below the page's own, or below that of a panel. */
const HeadingLevel = createContext<Level>('h2')

export const HeadingsBelow = HeadingLevel.Provider

export const useHeadingLevel = (): Level => useContext(HeadingLevel)
