export declare function denialOf(file: string, name: string): string | undefined
export declare function fileNameOf(file: string): string
export function proseDenialOf(text: string): string | undefined
