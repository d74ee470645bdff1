// Leads on from places of this page that have moved to another page, or from the page as a whole.
{
  const moved = JSON.parse(document.getElementById("moved-places").textContent);
  const lead = () => {
    const there = moved[decodeURIComponent(location.hash.slice(1))];
    if (there) location.replace(there);
    else if (moved[""]) location.replace(moved[""] + location.hash);
  };
  addEventListener("hashchange", lead);
  lead();
}
