/** Dragging by the handle, an accelerator on the same request as the Move menu. */
import { placeOf } from "./places.js";

const OUTSIDE_PX = 40;

/** Whether a drag that ended so was dropped in the list: not let go elsewhere, nor cancelled. */
export function wasDropped(event, box) {
  if (!event || event.type === "pointercancel" || event.type === "touchcancel") return false;
  if (event.type === "dragend") return event.dataTransfer?.dropEffect !== "none";
  if (event.type === "drop") return true;
  const point = event.changedTouches?.[0] ?? event;
  const inside = (at, from, to) => at >= from - OUTSIDE_PX && at <= to + OUTSIDE_PX;
  return inside(point.clientX, box.left, box.right) && inside(point.clientY, box.top, box.bottom);
}

/** `attach()` after each redraw: the list may be a new one. */
export function startDrag({ Sortable, region, moves, isStill }) {
  let sortable = null;
  let list = null;
  let from = null;
  let isCancelled = false;

  function lift({ item }) {
    isCancelled = false;
    from = { next: item.nextElementSibling, back: placeOf(item) };
    region.block("drag");
  }

  function letGo() {
    from = null;
    return region.unblock("drag");
  }

  async function end({ item, originalEvent }) {
    const { next, back } = from ?? { next: item.nextElementSibling };
    const putBack = () => item.isConnected && list.insertBefore(item, next?.isConnected ? next : null);
    const isDrop = !isCancelled && wasDropped(originalEvent, list.getBoundingClientRect());
    if (!isDrop) putBack();
    if (!isDrop || item.nextElementSibling === next) return letGo();
    sortable.option("disabled", true);
    const moved = moves.drop(item, { back, revert: putBack });
    letGo();
    await moved;
    sortable?.option("disabled", false);
    attach();
  }

  // Nothing tells the end of a drag whose row went away, so whatever could have ended it does.
  function settleSoon() {
    const was = from;
    setTimeout(() => from && from === was && !Sortable.active && letGo(), 100);
  }
  for (const name of ["pointerup", "dragend"]) document.addEventListener(name, settleSoon, true);

  // The browser cancels its own drags; those that are played with pointers are ours to cancel.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !Sortable.active) return;
    isCancelled = true;
    document.dispatchEvent(new PointerEvent("pointerup"));
    document.dispatchEvent(new MouseEvent("mouseup"));
  }, true);

  function attach() {
    const found = region.root.querySelector("#line");
    if (found === list) return;
    sortable?.destroy();
    list = found;
    sortable = list && Sortable.create(list, {
      handle: "button.grip", draggable: ".row", dataIdAttr: "data-session",
      animation: isStill() ? 0 : 120, ghostClass: "lifted", dragClass: "carried",
      fallbackOnBody: true, delay: 180, delayOnTouchOnly: true, touchStartThreshold: 5, fallbackTolerance: 4,
      scroll: true, scrollSensitivity: 60, bubbleScroll: true,
      onChoose: lift, onEnd: end,
    });
  }

  attach();
  return { attach };
}
