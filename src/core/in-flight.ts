/**
 * What is under way: a list that many short-lived members join and leave while others are in it. A Set says the same, but V8 links each
 * table that a Set has outgrown to the next: once one of them is in the old generation, all that come after it, with the members they
 * had, survive every collection of the young generation, until the whole heap is collected. Places in an array keep nothing.
 */
export class InFlight<Member extends object> {
  #members: (Member | undefined)[] = []
  #free: number[] = []

  /** Returns what lets the member leave, once. */
  add(member: Member): () => void {
    const place = this.#free.pop() ?? this.#members.length
    this.#members[place] = member
    return () => {
      if (this.#members[place] !== member) return
      this.#members[place] = undefined
      this.#free.push(place)
    }
  }

  get size(): number {
    return this.#members.length - this.#free.length
  }

  *[Symbol.iterator](): Generator<Member> {
    for (const member of this.#members) if (member !== undefined) yield member
  }
}
