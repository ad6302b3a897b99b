export declare function denialOf(file: string, name: string): string | undefined
export declare function fileNameOf(file: string): string
