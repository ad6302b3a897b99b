/**
 * Lets React go on where a browser's translator or an extension has put elements of its own in the place of text. React would remove
 * that text, or insert before it, and the browser refuses both where the text has gone: the page would fail. What cannot be inserted
 * at its place stands at the end.
 */
export function allowMovedNodes(): void {
  // Each is called on the node of its caller.
  // oxlint-disable-next-line typescript/unbound-method
  const { insertBefore, removeChild } = Node.prototype
  Node.prototype.insertBefore = function <T extends Node>(this: Node, node: T, reference: Node | null): T {
    return insertBefore.call(this, node, reference?.parentNode === this ? reference : null) as T
  }
  Node.prototype.removeChild = function <T extends Node>(this: Node, child: T): T {
    return child.parentNode === this ? (removeChild.call(this, child) as T) : child
  }
}
