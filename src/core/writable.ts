/** The same with fields that may be set: for whoever makes what others only read. */
export type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] }
