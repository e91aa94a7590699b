"""The look of the page for a meeting, light and dark, screen and A4, and how large it may be."""

MOST_BYTES = 2_000_000  # of the whole file, sounds included

# Without any character that HTML escapes: a style sheet is read as it is.
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --back: #fff; --muted: #57606a; --line: #c9ced6;
  --box: #eef4fa; --edge: #0072b2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --back: #121212; --muted: #a7b0ba; --line: #3c444d; --box: #1b2733;
    --edge: #56b4e9; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 15px/1.4 system-ui, DejaVu Sans, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem 1.2rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; line-height: 1.2; }
h2 { font-size: 1.05rem; margin: 1rem 0 .3rem; }
p { margin: .25rem 0; }
a { color: var(--edge); }
.purpose, .note, dl, figcaption { color: var(--muted); font-size: .85rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: .4rem 0; }
dt { font-weight: 600; }
dd { margin: 0; }
.verdict { background: var(--box); border-left: .3rem solid var(--edge); padding: .4rem .9rem;
  margin: .7rem 0; }
.sc-notice { border-left: .3rem solid #e69f00; padding: .3rem .9rem; margin: .5rem 0; font-size: .85rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .82rem; overflow-wrap: break-word; }
th, td { text-align: left; vertical-align: top; padding: .15rem .4rem; border-bottom: 1px solid var(--line); }
th { border-bottom-width: 2px; }
figure { margin: 0; }
.pictures { display: grid; grid-template-columns: 1fr 1fr; gap: .6rem; margin-top: 1rem;
  align-items: start; }
.pictures img { padding: .2rem; width: 100%; height: auto;
  display: block; }
.pictures .wide { grid-column: 1 / -1; }
.pictures .wide img { max-height: 19rem; object-fit: contain; object-position: left; }
.scenes { display: grid; grid-template-columns: 1fr 1fr; gap: .8rem; align-items: start; }
.sounds { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem; margin: .3rem 0; }
.sound { border: 1px solid var(--line); border-radius: .3rem; padding: .4rem; }
.sound img { display: block; width: 100%; height: auto; background: #fff; margin: .2rem 0; }
.sound audio { width: 100%; height: 2.2rem; }
.sc-page { color: var(--muted); font-size: .75rem; text-align: center; padding: .5rem; }
@media screen and (max-width: 44rem) { .pictures, .scenes { grid-template-columns: 1fr; } }
@page { size: A4; margin: 11mm 12mm; }
@media print {
  :root { color-scheme: light; --ink: #000; --back: #fff; --muted: #444; --line: #bbb; --box: #eef4fa;
    --edge: #0072b2; }
  body { font-size: 8.4pt; line-height: 1.26; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { padding: 0; max-width: none; }
  h1 { font-size: 15pt; }
  h2 { font-size: 10pt; margin: 2mm 0 .8mm; break-after: avoid; }
  p { margin: .4mm 0; }
  dl { margin: 1mm 0; gap: 0 3mm; }
  .verdict { padding: 1mm 3mm; margin: 1.5mm 0; }
  .sc-notice { padding: .5mm 3mm; margin: 1mm 0; }
  table { font-size: 7.4pt; }
  th, td { padding: .35mm 1.2mm; }
  tr, figure, .verdict, div.scene { break-inside: avoid; }
  .scroll { overflow: visible; }
  .pictures { gap: 2mm; margin-top: 2mm; }
  .pictures img { padding: 0; color-scheme: light; }
  .pictures .wide img { max-height: 48mm; }
  .scenes { gap: 3mm; }
  .sound { padding: 1mm; }
  .sound img { height: 12mm; object-fit: fill; }
  .sound audio { display: none; }
}
"""
