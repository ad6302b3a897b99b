import type { RuleTester } from 'oxlint/plugins-dev'

export declare const table: [file: string, mayImport: string[]][]
/** Folders of each floor, lowest first. */
export declare const floors: string[][]
export declare function targetOf(file: string, specifier: string): string
export declare function isAllowed(file: string, specifier: string, typesOnly: boolean): boolean

type Rule = Parameters<RuleTester['run']>[1]

declare const plugin: {
  rules: Record<'imports' | 'dialect-comparison' | 'upstream-call' | 'denied-identifiers', Rule>
}
export default plugin
