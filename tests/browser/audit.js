/* What WCAG 2.2 AA asks for and a program can see: names, labels, unique ids, order of headings, contrast, size. */

() => {
    const found = [];
    const visible = (each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const shown = [...document.querySelectorAll("body *")].filter(visible);
    const where = (each) => `${each.tagName.toLowerCase()}.${each.className} “${(each.textContent || "").trim().slice(0, 40)}”`;

    const ids = shown.map((each) => each.id).filter(Boolean);
    for (const id of new Set(ids.filter((each, at) => ids.indexOf(each) !== at))) found.push(`id ${id} is there twice`);

    for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
        const named = field.labels?.length || field.getAttribute("aria-label") || field.getAttribute("aria-labelledby");
        if (!named) found.push(`no label: ${field.name}`);
        for (const id of (field.getAttribute("aria-describedby") || "").split(" ").filter(Boolean)) {
            if (!document.getElementById(id)) found.push(`${field.name} is described by ${id}, which is not there`);
        }
    }
    for (const each of document.querySelectorAll("a[href], button")) {
        const name = each.getAttribute("aria-label") || each.textContent.trim() || each.title;
        if (visible(each) && !name) found.push(`no name: ${each.outerHTML.slice(0, 80)}`);
    }
    if (!document.documentElement.lang) found.push("no language");
    if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
    let level = 0;
    for (const heading of document.querySelectorAll("main h1, main h2, main h3, main h4")) {
        const next = Number(heading.tagName[1]);
        if (next > level + 1) found.push(`h${next} after h${level}: ${heading.textContent}`);
        level = next;
    }
    for (const table of document.querySelectorAll("table")) {
        if (!table.querySelector("th[scope=col]")) found.push("a table without headers");
    }

    const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
    const light = ([red, green, blue]) =>
        0.2126 * channel(red / 255) + 0.7152 * channel(green / 255) + 0.0722 * channel(blue / 255);
    const behind = (each) => {
        for (let node = each; node; node = node.parentElement) {
            const colour = parse(getComputedStyle(node).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
    };
    for (const each of shown) {
        const text = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!text || each.closest("[aria-hidden=true]") || each.closest(".visually-hidden")) continue;
        const style = getComputedStyle(each);
        const [one, other] = [light(parse(style.color)), light(behind(each))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (other + 0.05);
        const size = parseFloat(style.fontSize);
        const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${where(each)}`);
    }
    for (const each of document.querySelectorAll("main button, main select, main input:not([type=hidden], [type=radio])")) {
        const box = each.getBoundingClientRect();
        if (visible(each) && (box.width < 24 || box.height < 24)) {
            found.push(`only ${Math.round(box.width)} by ${Math.round(box.height)}: ${each.name || where(each)}`);
        }
    }
    return found;
}
